import type { WatchSink } from '../../services/gateway/src/watch-hub/index.ts'

/** A sink that records the texts of events in `seen`, and the ends of its watch. */
export function recordingSink(seen: string[]): WatchSink {
  return {
    frames: (bytes) =>
      void seen.push(
        ...Array.from(
          Buffer.from(bytes)
            .toString()
            .matchAll(/"text":"(\w+)"/g),
          ([, text]) => `event ${text}`,
        ),
      ),
    position: () => {},
    expired: () => void seen.push('expired'),
    replaced: () => void seen.push('replaced'),
  }
}
