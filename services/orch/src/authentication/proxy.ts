import type { RequestHeaderOptions } from '@orch/gateway'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readCertificateFile } from '../configuration/flag-files.ts'

const { list, path } = settingTypes
const setting = settingsOf('Authentication')

/** The settings of authenticating proxies, which send the user in headers. */
export const proxySettings = {
  requestheader: {
    caFile: setting(
      { flag: '--requestheader-client-ca-file', type: path },
      'Certificate authorities of authenticating proxies. Identity headers are ignored without a certificate of one of them. The file is reloaded when it changes.',
    ),
    allowedNames: setting(
      { flag: '--requestheader-allowed-names', type: list },
      "Accepted common names of a proxy's certificate; empty accepts any.",
    ),
    usernameHeaders: setting(
      { flag: '--requestheader-username-headers', type: list },
      'Headers that contain the user name, such as X-Remote-User; the first one with a value is used. Required with --requestheader-client-ca-file.',
    ),
    uidHeaders: setting(
      { flag: '--requestheader-uid-headers', type: list },
      'Headers that contain the UID of the user, such as X-Remote-Uid; the first one with a value is used.',
    ),
    groupHeaders: setting(
      { flag: '--requestheader-group-headers', type: list },
      "Headers that contain the user's groups, such as X-Remote-Group; each value is one group.",
    ),
    extraHeaderPrefixes: setting(
      { flag: '--requestheader-extra-headers-prefix', type: list },
      'Prefixes of headers that contain extra attributes of the user, such as X-Remote-Extra-; the rest of the header name is the key.',
    ),
  },
}

/** Checks the settings; undefined if no proxy is trusted. */
export function readProxy({ requestheader }: Values<typeof proxySettings>) {
  const { caFile, allowedNames, ...headers } = requestheader
  checkHeaderNames('--requestheader-username-headers', headers.usernameHeaders)
  checkHeaderNames('--requestheader-uid-headers', headers.uidHeaders)
  checkHeaderNames('--requestheader-group-headers', headers.groupHeaders)
  checkHeaderNames('--requestheader-extra-headers-prefix', headers.extraHeaderPrefixes)
  if (caFile === '') {
    if ([...Object.values(headers), allowedNames].every(({ length }) => length === 0)) return undefined
    throw new SettingsError('--requestheader-client-ca-file: needed with the other --requestheader flags: without it no proxy is trusted')
  }
  readCertificateFile('--requestheader-client-ca-file', caFile)
  if (headers.usernameHeaders.length === 0) {
    throw new SettingsError('--requestheader-username-headers: needed with --requestheader-client-ca-file: at least one header name')
  }
  return requestheader satisfies RequestHeaderOptions & { readonly caFile: string }
}

function checkHeaderNames(flag: string, names: readonly string[]): void {
  const bad = names.find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
  if (bad !== undefined) throw new SettingsError(`${flag}: ${JSON.stringify(bad)}: must be the name of a header`)
}
