import type { Clock } from '@orch/platform'
import { countsAsWork, type GatewayRequest } from '../request/request.ts'
import type { Faults } from './faults.ts'

/** The dependencies of a wait on behalf of a test. */
interface WaitParts {
  readonly clock: Clock
  readonly faults: Pick<Faults, 'isCounted'> | undefined
}

/** Waits without counting the request as work: a manual clock would otherwise wait for it, and the request for the clock. */
export async function withoutWork(
  request: GatewayRequest,
  { clock: { work }, faults }: WaitParts,
  wait: () => Promise<void>,
): Promise<void> {
  const counted = [
    ...(countsAsWork(request) ? ['request'] : []),
    ...(faults?.isCounted(request.exchange) === true ? ['request of the client'] : []),
  ]
  for (const what of counted) work?.end(what)
  try {
    await wait()
  } finally {
    for (const what of counted) work?.begin(what)
  }
}
