variable "webhook_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "runtimecloud_event_subscription" "chat" {
  name      = "chat"
  url       = "https://example.invalid/hooks"
  secret_wo = var.webhook_secret
  labels    = { to = "chat" }
}
