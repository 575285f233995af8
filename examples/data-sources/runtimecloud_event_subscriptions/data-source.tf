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

resource "runtimecloud_event_subscription" "audit" {
  name      = "seen-subscriptions-audit"
  url       = "https://example.invalid/audit"
  secret_wo = var.webhook_secret
  labels    = { seen = "subscriptions" }
}

data "runtimecloud_event_subscriptions" "seen" {
  labels     = { seen = "subscriptions" }
  depends_on = [runtimecloud_event_subscription.audit]
}

output "behind" {
  value = {
    for it in data.runtimecloud_event_subscriptions.seen.event_subscriptions : it.name => it.behind
  }
}
