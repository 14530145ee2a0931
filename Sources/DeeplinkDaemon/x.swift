enum DeeplinkDaemonPlaceholder {}
