import { SettingsError } from '@orch/platform'
import type { TrustOptions } from '../certificates/service-trust.ts'
import { staysHere } from '../serving/loopback.ts'

/** An address to listen on, in its parts. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:7100`, `[::1]:7100`. */
export function readListenAddress(flag: string, text: string): ListenAddress {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text)
  const host = found?.[1] ?? found?.[2]
  const port = Number(found?.[3])
  if (host === undefined || port > 65_535) throw new SettingsError(`${flag}=${text}: must be a host and a port such as 127.0.0.1:7100`)
  return { host, port }
}

/** Addresses of a service's replicas; there must be one, and what leaves this machine is encrypted unless anything else is allowed. */
export function readServiceAddresses(
  flag: string,
  addresses: readonly string[],
  { tls, insecureTransport }: TrustOptions,
): readonly string[] {
  if (addresses.length === 0) throw new SettingsError(`${flag} is needed: where the service is, as host:port or dns:///name:port`)
  const wrong = addresses.find((address) => !/^(dns:\/\/\/)?[^/\s]+:\d{1,5}$/.test(address))
  if (wrong !== undefined) throw new SettingsError(`${flag}=${wrong}: must be host:port or dns:///name:port`)
  const open = tls === undefined && !insecureTransport ? addresses.find((address) => !staysHere(address)) : undefined
  if (open !== undefined) {
    throw new SettingsError(
      `${flag}=${open}: what leaves this machine must be encrypted: give --service-certificate, --service-key and --service-ca, or --insecure-transport`,
    )
  }
  return addresses
}
