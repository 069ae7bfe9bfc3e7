import type { GatewayOptions } from '@orch/gateway'
import { openPairSource } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import type { AggregationOptions } from './options.ts'

/** What the gateway takes: the certificate is that of the files, as they are from now on. */
export async function openAggregation(
  { proxyFiles, ...options }: AggregationOptions,
  { clock, lifecycle, log }: Surroundings,
): Promise<GatewayOptions['aggregation']> {
  if (proxyFiles === undefined) return options
  const proxyPair = openPairSource({ files: proxyFiles, clock, log })
  await lifecycle.run({ name: 'proxy certificate', stop: () => proxyPair.close() })
  return { ...options, proxyPair }
}
