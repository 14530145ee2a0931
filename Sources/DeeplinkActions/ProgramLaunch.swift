import DeeplinkLoop

/// A way to start an app's program so that it outlives the daemon.
@LoopActor public protocol ProgramLaunch: AnyObject {
  /// Starts it; `failed` runs at most once, with what is known, when it could not be started or ended
  /// with a failure.
  func launch(
    _ environment: LaunchEnvironment, failed: @escaping @LoopActor (_ message: String) -> Void)
}
