import { settingsOf, settingTypes } from '@orch/platform'

const { list, path } = settingTypes
const setting = settingsOf('Authentication')

/** Proxies that know who asks, and say so in headers. */
export const proxySettings = {
  requestheaderClientCaFile: setting({
    flag: '--requestheader-client-ca-file',
    type: path,
    doc: 'Certificate authorities of authenticating proxies. Identity headers are ignored without a certificate of one of them. The file is reloaded when it changes.',
  }),
  requestheaderAllowedNames: setting({
    flag: '--requestheader-allowed-names',
    type: list,
    doc: "Accepted common names of a proxy's certificate; empty accepts any.",
  }),
  requestheaderUsernameHeaders: setting({
    flag: '--requestheader-username-headers',
    type: list,
    doc: 'Headers that contain the user name, such as X-Remote-User; the first one with a value is used. Required with --requestheader-client-ca-file.',
  }),
  requestheaderUidHeaders: setting({
    flag: '--requestheader-uid-headers',
    type: list,
    doc: 'Headers that contain the UID of the user, such as X-Remote-Uid; the first one with a value is used.',
  }),
  requestheaderGroupHeaders: setting({
    flag: '--requestheader-group-headers',
    type: list,
    doc: "Headers that contain the user's groups, such as X-Remote-Group; each value is one group.",
  }),
  requestheaderExtraHeadersPrefix: setting({
    flag: '--requestheader-extra-headers-prefix',
    type: list,
    doc: 'Prefixes of headers that contain extra attributes of the user, such as X-Remote-Extra-; the rest of the header name is the key.',
  }),
}
