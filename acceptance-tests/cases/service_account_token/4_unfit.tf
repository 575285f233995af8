resource "runtimecloud_service_account" "ci" {
  name = "ci"
  role = "editor"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account.ci.name
  name            = "deploy"
  secret_wo         = "too-short-to-be-a-secret"
  secret_wo_version = 3
}
