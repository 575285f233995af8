terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# Each argument may come from an environment variable instead: here the endpoint from
# RUNTIMECLOUD_ENDPOINT, and the token, which has no place in a file, from RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {
  request_timeout = "10s"

  default_labels = {
    managed-by = "terraform"
    team       = "a"
  }
}

resource "runtimecloud_environment" "dev" {
  name   = "provider-dev"
  labels = { team = "b" } # wins over the provider's
}
