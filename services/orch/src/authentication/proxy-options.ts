import type { RequestHeaderOptions } from '@orch/gateway'
import { SettingsError, type Values } from '@orch/platform'
import { readCertificateFile } from '../configuration/flag-files.ts'
import type { proxySettings } from './proxy-settings.ts'

/** Proxies that are believed. */
export interface ProxyOptions extends RequestHeaderOptions {
  /** Their authorities. */
  readonly caFile: string
}

/** Checks the settings; undefined: no proxy is believed. */
export function readProxy(settings: Values<typeof proxySettings>): ProxyOptions | undefined {
  const caFile = settings.requestheaderClientCaFile
  const options = {
    caFile,
    usernameHeaders: settings.requestheaderUsernameHeaders,
    uidHeaders: settings.requestheaderUidHeaders,
    groupHeaders: settings.requestheaderGroupHeaders,
    extraHeaderPrefixes: settings.requestheaderExtraHeadersPrefix,
    allowedNames: settings.requestheaderAllowedNames,
  }
  checkHeaderNames('--requestheader-username-headers', options.usernameHeaders)
  checkHeaderNames('--requestheader-uid-headers', options.uidHeaders)
  checkHeaderNames('--requestheader-group-headers', options.groupHeaders)
  checkHeaderNames('--requestheader-extra-headers-prefix', options.extraHeaderPrefixes)
  if (caFile === '') {
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes, allowedNames } = options
    if ([usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes, allowedNames].every(({ length }) => length === 0)) return undefined
    throw new SettingsError('--requestheader-client-ca-file: needed with the other --requestheader flags: without it no proxy is trusted')
  }
  readCertificateFile('--requestheader-client-ca-file', caFile)
  if (options.usernameHeaders.length === 0) {
    throw new SettingsError('--requestheader-username-headers: needed with --requestheader-client-ca-file: at least one header name')
  }
  return options
}

function checkHeaderNames(flag: string, names: readonly string[]): void {
  const bad = names.find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
  if (bad !== undefined) throw new SettingsError(`${flag}: ${JSON.stringify(bad)}: must be the name of a header`)
}
