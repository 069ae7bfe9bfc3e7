import { type PairFiles, SettingsError, type Values } from '@orch/platform'
import { readPairFiles } from '../configuration/flag-files.ts'
import type { aggregationSettings } from './settings.ts'

/** How requests are passed on to the servers of APIServices. */
export interface AggregationOptions {
  /** What this server shows to them; undefined: no certificate. */
  readonly proxyFiles: PairFiles | undefined
  readonly routesToEndpoints: boolean
  readonly rejectsRedirects: boolean
}

/** Checks the settings and the files that they name. */
export function readAggregation(settings: Values<typeof aggregationSettings>): AggregationOptions {
  const { enableAggregatorRouting, aggregatorRejectForwardingRedirect } = settings
  return {
    proxyFiles: readProxyFiles(settings),
    routesToEndpoints: enableAggregatorRouting,
    rejectsRedirects: aggregatorRejectForwardingRedirect,
  }
}

function readProxyFiles({
  proxyClientCertFile: certificateFile,
  proxyClientKeyFile: keyFile,
}: Values<typeof aggregationSettings>): PairFiles | undefined {
  if (certificateFile === '' && keyFile === '') return undefined
  if (keyFile === '') throw new SettingsError('--proxy-client-cert-file needs --proxy-client-key-file')
  if (certificateFile === '') throw new SettingsError('--proxy-client-key-file needs --proxy-client-cert-file')
  readPairFiles({
    certificate: { flag: '--proxy-client-cert-file', path: certificateFile },
    key: { flag: '--proxy-client-key-file', path: keyFile },
  })
  return { certificateFile, keyFile }
}
