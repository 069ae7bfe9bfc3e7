import type { PairSource } from '@orch/platform'
import { followPair } from '../certificates/port-certificates.ts'
import type { Surroundings } from '../surroundings.ts'
import type { AggregationOptions } from './options.ts'

/** What is shown to the servers of APIServices: the certificate of the files, as they are from now on. */
export async function openProxyPair({ proxyFiles }: AggregationOptions, surroundings: Surroundings): Promise<PairSource | undefined> {
  return proxyFiles === undefined ? undefined : await followPair(proxyFiles, surroundings)
}
