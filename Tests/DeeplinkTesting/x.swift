enum DeeplinkTestingPlaceholder {}
