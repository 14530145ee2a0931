enum DeeplinkBusPlaceholder {}
