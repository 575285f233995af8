resource "runtimecloud_event_subscription" "hook" {
  name = "other"
  url       = "https://example.invalid/hooks"
  secret_wo = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}
