enum DeeplinkWirePlaceholder {}
