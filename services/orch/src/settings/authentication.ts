import { setting, settingTypes } from '@orch/platform'
import { proxySettings } from './authentication-proxy.ts'

const { bool, path } = settingTypes

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
  anonymousAuth: setting({
    flag: '--anonymous-auth',
    env: 'ORCH_ANONYMOUS_AUTH',
    type: bool,
    default: 'false',
    group: 'Authentication',
    doc: 'Requests without credentials are system:anonymous instead of being refused. As everything is allowed to everyone who is known, this needs a loopback address.',
  }),
}
