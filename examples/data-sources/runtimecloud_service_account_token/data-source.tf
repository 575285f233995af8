terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}
# Given in TF_VAR_deploy_secret, and kept neither in a plan nor in the state.
variable "deploy_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "runtimecloud_service_account" "ci" {
  name = "seen-token-ci"
  role = "viewer"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account.ci.name
  name            = "deploy"
  secret_wo       = var.deploy_secret
}

data "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account_token.deploy.service_account
  name            = runtimecloud_service_account_token.deploy.name
}

output "is_valid" {
  value = data.runtimecloud_service_account_token.deploy.valid
}
