"""Reading Hugging Face configurations."""
