import { request } from 'node:http'

/** An answer from the console's port. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Sends a request with exactly these headers to the port of a link. */
export function askPort(link: string, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> {
  const { hostname, port } = new URL(link)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (part: string) => {
        text += part
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Opens a link's session like its page, without a browser; returns a function that sends the page's requests. */
export async function openPage(link: string) {
  const { origin, hash } = new URL(link)
  const json = { origin, 'content-type': 'application/json' }
  const opened = await askPort(link, '/console/session', { method: 'POST', headers: json, body: { ticket: hash.replace('#ticket=', '') } })
  if (opened.status !== 201) throw new Error(`no session: ${opened.status} ${opened.text}`)
  const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? ''
  const { token } = JSON.parse(opened.text) as { readonly token: string }
  const headers = { ...json, cookie, 'x-csrf-token': token }
  return {
    opened,
    headers,
    ask: (path: string, asked: Asked = {}) => askPort(link, path, { ...asked, headers: { ...headers, ...asked.headers } }),
  }
}
