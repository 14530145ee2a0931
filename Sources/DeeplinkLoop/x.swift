enum DeeplinkLoopPlaceholder {}
