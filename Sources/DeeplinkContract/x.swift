enum DeeplinkContractPlaceholder {}
