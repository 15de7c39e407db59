"""One module a command; `service.cli` imports a module only when its command is called."""
