/// Introspection data (D-Bus specification, "Introspection Data Format").
enum Introspection {
  static func document(interfaces: [Interface], children: [String]) -> String {
    var lines = [
      """
      <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
      <node>
      """
    ]
    for interface in interfaces { lines += self.lines(interface) }
    lines += children.map { #"  <node name="\#($0)"/>"# }
    lines.append("</node>\n")
    return lines.joined(separator: "\n")
  }

  // Nothing is escaped: names of members and arguments are our own and hold no markup.
  private static func lines(_ interface: Interface) -> [String] {
    var lines = [#"  <interface name="\#(interface.name)">"#]
    for method in interface.methods {
      lines += element(
        "method", method.name,
        method.inputs.map { argument($0, " direction=\"in\"") }
          + method.outputs.map { argument($0, " direction=\"out\"") })
    }
    for signal in interface.signals {
      lines += element("signal", signal.name, signal.arguments.map { argument($0, "") })
    }
    for property in interface.properties {
      lines += [
        #"    <property name="\#(property.name)" type="\#(property.signature)" access="read">"#,
        #"      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="\#(property.change.rawValue)"/>"#,
        "    </property>",
      ]
    }
    return lines + ["  </interface>"]
  }

  private static func element(_ kind: String, _ name: MemberName, _ body: [String]) -> [String] {
    body.isEmpty
      ? [#"    <\#(kind) name="\#(name)"/>"#]
      : [#"    <\#(kind) name="\#(name)">"#] + body + ["    </\(kind)>"]
  }

  private static func argument(_ argument: Argument, _ direction: String) -> String {
    #"      <arg name="\#(argument.name)" type="\#(argument.signature)"\#(direction)/>"#
  }
}
