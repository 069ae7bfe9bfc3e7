import type { Values } from '@orch/platform'
import type { authenticationSettings } from '../settings/authentication.ts'
import { readCertificateFile } from './files.ts'

/** How a gateway learns who asks. */
export interface AuthenticationOptions {
  /** Requests without credentials are let in as `system:anonymous`. */
  readonly anonymousAuth: boolean
  /** Further authorities of client certificates, PEM. */
  readonly clientCertificateAuthorities: string
}

/** Checks the settings and reads the files that they name. */
export function readAuthentication({ anonymousAuth, clientCaFile }: Values<typeof authenticationSettings>): AuthenticationOptions {
  return {
    anonymousAuth,
    clientCertificateAuthorities: clientCaFile === '' ? '' : readCertificateFile('--client-ca-file', clientCaFile),
  }
}
