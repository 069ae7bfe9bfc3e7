import { settingsOf, settingTypes } from '@orch/platform'

const { duration, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** A server that is asked whose a token is. */
export const tokenWebhookSettings = {
  tokenWebhookConfigFile: setting({
    flag: '--authentication-token-webhook-config-file',
    type: path,
    doc: 'Client configuration file of the webhook that receives TokenReviews for tokens that no other authenticator accepts.',
  }),
  tokenWebhookVersion: setting({
    flag: '--authentication-token-webhook-version',
    type: string,
    default: 'v1beta1',
    doc: 'Version of the TokenReviews that are sent to the webhook: v1 or v1beta1, with or without the group.',
  }),
  tokenWebhookCacheTtlMs: setting({
    flag: '--authentication-token-webhook-cache-ttl',
    type: duration,
    default: '2m',
    doc: "How long the webhook's decisions are cached, positive and negative.",
  }),
}
