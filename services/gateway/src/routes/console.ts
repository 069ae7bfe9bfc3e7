import { methodNotAllowed } from '@orch/core/meta'
import type { ConsoleDoor } from '../console/door.ts'
import { pageNotFound } from '../request/respond.ts'
import { bytesResponse, type DocumentHandler } from './document.ts'

/** The dependencies of the route. */
export interface ConsoleRouteParts {
  readonly console: Pick<ConsoleDoor, 'link'> | undefined
}

/** Creates a link that opens the console. It works once within a minute, and its session has the rights of the requesting user. */
export const ticketRoute: DocumentHandler<ConsoleRouteParts> = async ({ request, parts }) => {
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
