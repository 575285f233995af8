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
  name = "seen-ci"
  role = "viewer"
}

data "runtimecloud_service_account" "ci" {
  name = runtimecloud_service_account.ci.name
}

output "tokens" {
  value = data.runtimecloud_service_account.ci.token_count
}
