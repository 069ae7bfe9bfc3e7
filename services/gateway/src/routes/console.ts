import { methodNotAllowed } from '@orch/core/meta'
import type { ConsoleDoor } from '../console/door.ts'
import { pageNotFound } from '../request/respond.ts'
import { bytesResponse, type DocumentHandler } from './document.ts'

/** The dependencies of the route. */
export interface ConsoleRouteParts {
  readonly console: Pick<ConsoleDoor, 'link'> | undefined
}

/** Makes a link that opens the console once, within a minute, as the user who asks. */
export const ticketRoute: DocumentHandler<ConsoleRouteParts> = async ({ env: { request, parts } }) => {
  if (parts.console === undefined) throw pageNotFound()
  if (request.method !== 'POST') {
    request.allowedMethods = ['POST']
    throw methodNotAllowed()
  }
  const url = await parts.console.link(request.user)
  return bytesResponse(
    Buffer.from(`${JSON.stringify({ url })}\n`),
    { 'content-type': 'application/json', 'cache-control': 'no-store' },
    201,
  )
}
