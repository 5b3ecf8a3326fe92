// Talking to the practice server: the snapshot, the feed of changes, and what a person does.

export async function snapshot() {
  return (await fetch("/control/state")).json();
}

export async function tell(verb, body) {
  const answer = await fetch(`/control/${verb}`, { method: "POST", body: JSON.stringify(body) });
  return answer.json();
}

export function follow(onEvent, onOpen) {
  const source = new EventSource("/control/feed");
  source.onopen = onOpen;
  source.onmessage = (message) => onEvent(JSON.parse(message.data));
}
