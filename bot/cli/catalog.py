"""x"""
import typer
app = typer.Typer()
@app.callback()
def _x() -> None:
    pass
