terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

# Given in TF_VAR_webhook_secret: `whsec_` and the output of `openssl rand -base64 32`. It is kept neither in
# a plan nor in the state.
variable "webhook_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

# Nothing listens there in this example; the data source tells how deliveries go.
resource "runtimecloud_event_subscription" "chat" {
  name  = "chat"
  url   = "https://example.invalid/hooks/runtimecloud"
  types = ["CapacityLeaseRefused", "QuotaExceeded", "WorkerPoolStateChanged"]

  timeout      = "5s"
  max_attempts = 20

  # To rotate it, give another secret, and a `secret_wo_version` that differs from the one before. For a day,
  # both sign.
  secret_wo = var.webhook_secret
}
