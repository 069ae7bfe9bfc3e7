import { messageOf } from '@orch/platform'
import { type ChangeStream, createJetStream, createNats, streamName } from '@orch/platform/nats'
import type { ChangeStreamOptions } from '../backends/nats.ts'
import { StartError } from '../start-error.ts'
import type { Assembly } from './replica.ts'

/** The stream of published changes, written by storage and read by watch. It is closed with the replica. */
export function openChangeStream(options: ChangeStreamOptions, service: string, { lifecycle, catalogue }: Assembly): ChangeStream {
  const { profile, prefix, kept, ...access } = options
  const nats = connect({ ...access, name: `${catalogue.names.serverServiceName}-${service}` })
  const stream = createJetStream({ nats, name: streamName({ profile, prefix }), ...kept })
  lifecycle.onStop('connection to NATS', async () => {
    await stream.close()
    await nats.close()
  })
  return stream
}

function connect(options: Parameters<typeof createNats>[0]): ReturnType<typeof createNats> {
  try {
    return createNats(options)
  } catch (error) {
    throw new StartError(`--nats-servers: ${messageOf(error)}`, { cause: error })
  }
}
