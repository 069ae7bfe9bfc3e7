import { type SettingType, settingsOf, settingTypes } from '@orch/platform'
import { oidcSettings } from '../oidc/settings.ts'
import { proxySettings } from './proxy-settings.ts'
import { tokenSettings } from './tokens-settings.ts'
import { tokenWebhookSettings } from './webhook-settings.ts'

const { bool, path } = settingTypes
const setting = settingsOf('Authentication')

/** true, false, or unset: then the value follows from another setting. */
const boolOrUnsaid: SettingType<boolean | 'unsaid'> = { ...bool, parse: (text) => (text === '' ? 'unsaid' : bool.parse(text)) }

/** How a gateway learns who asks. */
export const authenticationSettings = {
  clientCaFile: setting({
    flag: '--client-ca-file',
    type: path,
    doc: "Certificate authorities whose client certificates are accepted, in addition to the server's own. The file is reloaded when it changes.",
  }),
  authenticationConfig: setting({
    flag: '--authentication-config',
    type: path,
    doc: 'AuthenticationConfiguration: issuers of JSON Web Tokens, and where requests without credentials are let in. Instead of the --oidc flags. The file is reloaded when it changes; one that is not valid leaves the present one in use.',
  }),
  ...proxySettings,
  ...oidcSettings,
  ...tokenWebhookSettings,
  ...tokenSettings,
  anonymousAuth: setting({
    flag: '--anonymous-auth',
    type: boolOrUnsaid,
    defaultDoc: 'true, but false with --authorization-mode=AlwaysAllow',
    doc: 'Treats requests without credentials as system:anonymous instead of refusing them. They have the permissions of system:unauthenticated. With --authorization-mode=AlwaysAllow, true requires a loopback address.',
  }),
}
