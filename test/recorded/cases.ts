import { readFileSync } from 'node:fs'

/** A request and the answer of kube-apiserver, with placeholders. */
export interface RecordedCase {
  readonly name: string
  readonly request: RecordedRequest
  readonly answer: RecordedAnswer
}

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly headers?: Record<string, string>
  /** The test sends text unchanged and any other value as JSON. */
  readonly body?: unknown
}

export interface RecordedAnswer {
  readonly status: number
  readonly contentType?: string
  readonly warning?: string
  /** Text if the content type is not JSON. */
  readonly body: unknown
}

export function readCases(): RecordedCase[] {
  const lines = readFileSync(new URL('answers.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as RecordedCase)
}
