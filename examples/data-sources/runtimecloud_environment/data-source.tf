terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_environment" "dev" {
  name = "seen-dev"
}

data "runtimecloud_environment" "dev" {
  id = runtimecloud_environment.dev.id
}

output "workers" {
  value = data.runtimecloud_environment.dev.worker_count
}
