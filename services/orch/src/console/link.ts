import type { Client } from '@orch/client'

/** Creates a link that opens the console of a server once, within a minute, as the user of the client. */
export async function consoleLink(client: Pick<Client, 'request'>): Promise<string> {
  const { url } = await client.request<{ readonly url: string }>({ method: 'POST', path: '/console/ticket' })
  return url
}
