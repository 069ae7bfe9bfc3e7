import { type SettingType, setting, settingTypes } from '@orch/platform'
import { oidcSettings } from '../oidc/settings.ts'
import { proxySettings } from './proxy-settings.ts'
import { tokenSettings } from './tokens-settings.ts'
import { tokenWebhookSettings } from './webhook-settings.ts'

const { bool, path } = settingTypes

/** A truth, or that nobody has said: then it follows from something else. */
const boolOrUnsaid: SettingType<boolean | 'unsaid'> = { ...bool, parse: (text) => (text === '' ? 'unsaid' : bool.parse(text)) }

/** How a gateway learns who asks. */
export const authenticationSettings = {
  clientCaFile: setting({
    flag: '--client-ca-file',
    env: 'ORCH_CLIENT_CA_FILE',
    type: path,
    default: '',
    group: 'Authentication',
    doc: "Authorities whose client certificates are accepted, beside the server's own. A change of the file is followed.",
  }),
  ...proxySettings,
  ...oidcSettings,
  ...tokenWebhookSettings,
  ...tokenSettings,
  anonymousAuth: setting({
    flag: '--anonymous-auth',
    env: 'ORCH_ANONYMOUS_AUTH',
    type: boolOrUnsaid,
    default: '',
    defaultDoc: 'true, but false with --authorization-mode=AlwaysAllow',
    group: 'Authentication',
    doc: 'Requests without credentials are system:anonymous instead of being refused. They may do what roles give to system:unauthenticated; with --authorization-mode=AlwaysAllow, true needs a loopback address.',
  }),
}
