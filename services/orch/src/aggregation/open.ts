import type { KeyPair, PairSource } from '@orch/platform'
import { followPair } from '../certificates/port-certificates.ts'
import type { Surroundings } from '../surroundings.ts'
import type { FrontProxy } from './front-proxy.ts'
import type { AggregationOptions } from './options.ts'

/** The certificate of the files, as they are from now on. */
export async function openProxyFiles({ proxyFiles }: AggregationOptions, surroundings: Surroundings): Promise<PairSource | undefined> {
  return proxyFiles === undefined ? undefined : await followPair(proxyFiles, surroundings)
}

/** What is shown to the servers of APIServices: the certificate of the files, or the server's own. */
export function toProxyPair(followed: PairSource | undefined, own: FrontProxy | undefined): () => KeyPair | undefined | Promise<KeyPair> {
  return () => followed?.current ?? own?.client()
}
