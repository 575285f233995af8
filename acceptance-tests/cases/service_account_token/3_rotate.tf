resource "runtimecloud_service_account" "ci" {
  name = "ci"
  role = "editor"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account.ci.name
  name            = "deploy"
  secret_wo         = "the-second-secret-of-32-characters"
  secret_wo_version = 2
  expires_at        = "2100-01-01T00:00:00Z"
}
