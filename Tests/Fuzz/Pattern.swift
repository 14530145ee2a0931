// Patterns and the tree of forms: no trap, work within its bounds, and the tree finds what each
// form finds for itself. The input is a pattern on each line, and on the last line a URL.
//
//     packaging/fuzz Pattern 120

@c(LLVMFuzzerTestOneInput)
public func fuzzOne(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
  guard let last = lines.last else { return 0 }
  let link = try? Link(admitting: Array(last))
  var tree = FormTree<Int>()
  var expected: [Int] = []
  for line in lines.dropLast().prefix(64) {
    let text = String(decoding: line, as: UTF8.self)
    checkOthers(text, url: String(decoding: last, as: UTF8.self))
    let route: RoutePattern
    do throws(PatternError) {
      route = try RoutePattern(text)
    } catch {
      precondition((0...text.unicodeScalars.count).contains(error.offset))
      precondition(!error.description.isEmpty)
      continue
    }
    precondition((1...RoutePattern.maximumForms).contains(route.forms.count))
    for form in route.forms {
      let number = expected.count
      guard tree.routesSharing(form).count < FormTree<Int>.maximumSharing else { continue }
      do throws(FormTree<Int>.TooManyRoutes) {
        try tree.insert(form, payload: number, requiredParameters: 0, order: number)
      } catch {
        fatalError("a form that 63 routes share has no place")
      }
      precondition(tree.routesSharing(form).contains(number))
      guard let link else { continue }
      var steps = 0
      let fits = form.groups(in: FormTarget(link.canonical), steps: &steps) != nil
      precondition(steps <= form.stepLimit(length: link.canonical.bytes.count))
      expected.append(fits ? 1 : 0)
    }
  }
  if let link {
    let found = tree.matches(url: link.canonical).map(\.payload).sorted()
    precondition(found == expected.indices.filter { expected[$0] == 1 })
  }
  return 0
}

private func checkOthers(_ text: String, url: String) {
  _ = try? FragmentPattern(text).matches(url)
  guard let pattern = try? URLPattern(text, baseURL: "https://example.com/a/b") else { return }
  _ = pattern.exec(url, baseURL: "https://example.com/a/b")
  var components = URLPattern.Components()
  components.pathname = text
  components.hostname = text
  components.hash = text
  _ = try? URLPattern(components, ignoreCase: true).exec(url)
}
