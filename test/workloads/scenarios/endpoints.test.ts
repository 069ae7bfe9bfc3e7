import { playFile } from './play-file.ts'

playFile('ep.jsonl', {
  level: '1.37',
  shows: {
    'ep-empty': '01 25',
    'ep-ready': '08 16 27 34',
    'ep-publish-not-ready': '08 27',
    'ep-headless': '01 07 29',
    'ep-named-port': '10 11',
    'ep-two-ports': '10 30',
    'ep-no-selector': '37 38 39',
    'ep-external-name': '34',
    'ep-finished': '06',
    'ep-same-ip': '23',
    'ep-traffic-close': '19 20 22',
    'ep-topology-auto': '21',
    'ep-pod-label': '06',
    'ep-protocols': '10',
    'ep-distribution': '22',
    // The recorded manager also mirrors Endpoints that `endpoint-controller` has left, which WL-EP-39 excludes.
    'ep-selector-removed': '37',
  },
  differences: { 'ep-headless 1': 'two controllers make the Endpoints and the EndpointSlice, and either may be the first' },
})
