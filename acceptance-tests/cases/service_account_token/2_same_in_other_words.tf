resource "runtimecloud_service_account" "ci" {
  name = "ci"
  role = "editor"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account.ci.name
  name            = "deploy"
  secret_wo       = "a-secret-that-changes-with-each-run"
  expires_at      = "2100-01-01T02:00:00+02:00"
}
