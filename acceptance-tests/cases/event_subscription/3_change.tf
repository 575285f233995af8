resource "runtimecloud_event_subscription" "hook" {
  name = "hook"
  url               = "https://example.invalid/hooks"
  environments      = ["dev"]
  suspended         = true
  max_attempts      = 3
  secret_wo         = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
  secret_wo_version = 2
}
