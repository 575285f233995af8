terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

data "runtimecloud_host" "this" {
  lifecycle {
    postcondition {
      condition     = contains(self.drivers, "process")
      error_message = "The host can not run workers as processes."
    }
  }
}

output "version" {
  value = data.runtimecloud_host.this.version
}
