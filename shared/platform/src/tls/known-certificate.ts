import { X509Certificate } from 'node:crypto'
import { boundedMemo } from '@orch/core/memo'

/** A certificate in PEM, parsed once for all its readers. Throws for a text that is none. */
export const knownCertificate = boundedMemo(64, (pem: string) => new X509Certificate(pem))
