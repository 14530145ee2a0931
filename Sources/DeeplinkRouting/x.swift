enum DeeplinkRoutingPlaceholder {}
