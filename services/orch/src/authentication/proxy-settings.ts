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
    doc: 'Authorities of the certificates that authenticating proxies show; without one of these no header is believed. A change is followed.',
  }),
  requestheaderAllowedNames: setting({
    flag: '--requestheader-allowed-names',
    env: 'ORCH_REQUESTHEADER_ALLOWED_NAMES',
    type: list,
    default: '',
    group: 'Authentication',
    doc: 'Common names that the certificate of a proxy may have; empty is any.',
  }),
  requestheaderUsernameHeaders: setting({
    flag: '--requestheader-username-headers',
    env: 'ORCH_REQUESTHEADER_USERNAME_HEADERS',
    type: list,
    default: '',
    group: 'Authentication',
    doc: "Headers in which a proxy gives the user's name, such as X-Remote-User; the first that has a value counts. Needed with --requestheader-client-ca-file.",
  }),
  requestheaderGroupHeaders: setting({
    flag: '--requestheader-group-headers',
    env: 'ORCH_REQUESTHEADER_GROUP_HEADERS',
    type: list,
    default: '',
    group: 'Authentication',
    doc: "Headers in which a proxy gives the user's groups, such as X-Remote-Group; every value is a group.",
  }),
  requestheaderExtraHeadersPrefix: setting({
    flag: '--requestheader-extra-headers-prefix',
    env: 'ORCH_REQUESTHEADER_EXTRA_HEADERS_PREFIX',
    type: list,
    default: '',
    group: 'Authentication',
    doc: 'Beginnings of headers in which a proxy gives further attributes, such as X-Remote-Extra-; what follows is the key.',
  }),
}
