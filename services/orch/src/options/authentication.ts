import type { Values } from '@orch/platform'
import type { authenticationSettings } from '../settings/authentication.ts'
import { type ProxyOptions, readProxy } from './authentication-proxy.ts'
import { readCertificateFile } from './files.ts'

/** How a gateway learns who asks. */
export interface AuthenticationOptions {
  /** Requests without credentials are let in as `system:anonymous`. */
  readonly anonymousAuth: boolean
  /** Further authorities of client certificates; '' for none. */
  readonly clientCaFile: string
  /** Undefined: headers of no proxy are believed. */
  readonly proxy: ProxyOptions | undefined
}

/** Checks the settings and reads the files that they name. */
export function readAuthentication(settings: Values<typeof authenticationSettings>): AuthenticationOptions {
  const { anonymousAuth, clientCaFile } = settings
  if (clientCaFile !== '') readCertificateFile('--client-ca-file', clientCaFile)
  return { anonymousAuth, clientCaFile, proxy: readProxy(settings) }
}
