import { setting, settingTypes } from '@orch/platform'

const { list, path } = settingTypes

/** Proxies that know who asks, and say so in headers. */
export const proxySettings = {
  requestheaderClientCaFile: setting({
    flag: '--requestheader-client-ca-file',
    env: 'ORCH_REQUESTHEADER_CLIENT_CA_FILE',
    type: path,
    default: '',
    group: 'Authentication',
    doc: 'Certificate authorities of authenticating proxies. Identity headers are ignored without a certificate of one of them. The file is reloaded when it changes.',
  }),
  requestheaderAllowedNames: setting({
    flag: '--requestheader-allowed-names',
    env: 'ORCH_REQUESTHEADER_ALLOWED_NAMES',
    type: list,
    default: '',
    group: 'Authentication',
    doc: "Accepted common names of a proxy's certificate; empty accepts any.",
  }),
  requestheaderUsernameHeaders: setting({
    flag: '--requestheader-username-headers',
    env: 'ORCH_REQUESTHEADER_USERNAME_HEADERS',
    type: list,
    default: '',
    group: 'Authentication',
    doc: 'Headers that contain the user name, such as X-Remote-User; the first one with a value is used. Required with --requestheader-client-ca-file.',
  }),
  requestheaderUidHeaders: setting({
    flag: '--requestheader-uid-headers',
    env: 'ORCH_REQUESTHEADER_UID_HEADERS',
    type: list,
    default: '',
    group: 'Authentication',
    doc: 'Headers that contain the UID of the user, such as X-Remote-Uid; the first one with a value is used.',
  }),
  requestheaderGroupHeaders: setting({
    flag: '--requestheader-group-headers',
    env: 'ORCH_REQUESTHEADER_GROUP_HEADERS',
    type: list,
    default: '',
    group: 'Authentication',
    doc: "Headers that contain the user's groups, such as X-Remote-Group; each value is one group.",
  }),
  requestheaderExtraHeadersPrefix: setting({
    flag: '--requestheader-extra-headers-prefix',
    env: 'ORCH_REQUESTHEADER_EXTRA_HEADERS_PREFIX',
    type: list,
    default: '',
    group: 'Authentication',
    doc: 'Prefixes of headers that contain extra attributes of the user, such as X-Remote-Extra-; the rest of the header name is the key.',
  }),
}
