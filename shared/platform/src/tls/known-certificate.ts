import { X509Certificate } from 'node:crypto'
import { boundedMemo } from '@orch/core/memo'

/** A parsed PEM certificate, cached for all its readers. Throws for an invalid text. */
export const knownCertificate = boundedMemo(64, (pem: string) => new X509Certificate(pem))
