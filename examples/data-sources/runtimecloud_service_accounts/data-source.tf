terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_service_account" "ci" {
  name   = "seen-accounts-ci"
  role   = "viewer"
  labels = { seen = "accounts" }
}

data "runtimecloud_service_accounts" "seen" {
  labels     = { seen = "accounts" }
  depends_on = [runtimecloud_service_account.ci]
}

output "roles" {
  value = { for it in data.runtimecloud_service_accounts.seen.service_accounts : it.name => it.role }
}
