resource "runtimecloud_event_subscription" "hook" {
  name = "hook"
  url               = "ftp://example.invalid/hooks"
  retry_min         = "1h"
  secret_wo         = "too-short-to-be-a-secret"
  secret_wo_version = 3
}
