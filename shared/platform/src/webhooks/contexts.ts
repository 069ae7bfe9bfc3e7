import { createHash } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { RecentMap } from '@orch/core/memo'
import { systemAuthorities } from '../tls/system-authorities.ts'
import { limits } from './limits.ts'

/** The authorities that verify a webhook's certificate, and our certificate. All PEM. */
export interface Trust {
  /** Default: the authorities of the machine. */
  readonly authorities: string | undefined
  readonly clientCertificate: string | undefined
  readonly clientKey: string | undefined
}

/**
 * Cached TLS contexts. A connection that creates its own context reads all authorities again, into memory that V8 does not
 * count. Other authorities or certificates need another context; the least recently used ones are dropped.
 */
export class TlsContexts {
  readonly #known = new RecentMap<SecureContext>(limits.contextsMax)

  of({ authorities, clientCertificate, clientKey }: Trust): SecureContext {
    const key = createHash('sha256')
      .update(JSON.stringify([authorities, clientCertificate, clientKey]))
      .digest('base64')
    const context =
      this.#known.get(key) ??
      createSecureContext({
        ca: authorities === undefined ? systemAuthorities() : certificatesIn(authorities),
        // As in Go, any certificate in the bundle is trusted, including intermediate authorities and the server's own certificate.
        allowPartialTrustChain: true,
        ...(clientCertificate === undefined ? {} : { cert: clientCertificate, key: clientKey }),
      })
    this.#known.set(key, context)
    return context
  }
}

/** Checks that a bundle contains a certificate: otherwise every connection would fail with an unclear message. */
function certificatesIn(authorities: string): string {
  if (authorities.includes('-----BEGIN CERTIFICATE-----')) return authorities
  throw new Error('unable to load root certificates: unable to parse bytes as PEM block')
}
